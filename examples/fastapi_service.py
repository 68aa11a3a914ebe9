"""A web service whose users see what they may see.

pip install 'weftwork[server]'
uvicorn --factory examples.fastapi_service:make_app

A real service takes the user from its own login, never from a header that anybody can write.
"""

from typing import Annotated

from fastapi import FastAPI, Header, HTTPException

from weftwork import Weft, WeftError


def make_app(store: str = "service.weft") -> FastAPI:
    """The application over one store, which all requests share: `Weft` is thread-safe."""
    app = FastAPI()
    weft = Weft.open(store)

    @app.get("/context")
    def context(question: str, user: Annotated[str, Header(alias="X-User")], budget: int = 2000) -> dict[str, object]:
        try:
            found = weft.context(question, user=user, budget=budget)
        except WeftError as error:
            raise HTTPException(400, str(error)) from error
        return {
            "text": found.text,
            "tokens": found.tokens,
            "sources": [{"id": cited.id, "node": cited.node} for cited in found.citations],
            "answered": bool(found.excerpts),
        }

    return app
