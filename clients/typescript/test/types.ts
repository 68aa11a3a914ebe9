// Checked by `npm run check`, never run: each line marked as an error must be one.
import { Weftwork } from "../src/index.js";

const weft = new Weftwork({ url: "http://127.0.0.1:8000" });
export async function check(): Promise<void> {
  const context = await weft.buildContext("main", { query: "x", budget: 300 });
  const tokens: number = context.tokens;
  const citation: string = context.citations[0]!.id;
  // @ts-expect-error a misspelt option
  await weft.buildContext("main", { query: "x", bugdet: 300 });
  // @ts-expect-error no such field
  context.tokenz;
  void tokens, void citation;
}
