"""Row-level security: defence in depth if a query omits its access filter.

Settings of a transaction name the viewer: `weftwork.workspace` (a number), `weftwork.viewer`, and `weftwork.reach`,
which is `all` for the store's own work on a whole workspace. The viewer's access lists are computed by the database at
the start of the transaction (`weftwork.lists`), not taken from the query. Rows without a list follow their node.

Fuzzy search runs in SECURITY DEFINER functions, which check the same conditions: PostgreSQL does not use a trigram
index under a policy, since its operator is not leakproof.
"""

from __future__ import annotations

import re

APPLICATION = "weftwork_app"
"""The role of the store's connections (SET ROLE), to which the policies apply."""

_LISTED = ("acls", "nodes", "passages", "words", "vocabulary", "embeddings", "changes")
_OF_A_NODE = ("tags", "fields", "page_vectors", "feedback", "usage")
_SHARED = ("workspaces", "users", "members", "acl_principals", "models", "commits")
_OWN = ("contexts", "receipts", "given")
_FOR_WRITING = ("marks", "waiting")
SERVICE = ("keys", "key_workspaces", "jobs", "embedding_cache")
_PUBLIC = ("directory", "migrations")

FUNCTIONS = """
    CREATE FUNCTION weftwork_workspace() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT NULLIF(current_setting('weftwork.workspace', true), '')::bigint $$;

    CREATE FUNCTION weftwork_user() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT current_setting('weftwork.viewer', true) $$;

    CREATE FUNCTION weftwork_all() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT COALESCE(current_setting('weftwork.reach', true), '') = 'all' $$;

    -- The lists of the viewer, as computed at the start of the transaction.
    CREATE FUNCTION weftwork_lists() RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT COALESCE(NULLIF(current_setting('weftwork.lists', true), ''), '{}')::bigint[] $$;

    -- Sets the workspace for the rest of the transaction. SET LOCAL and not set_config: Citus hands it on to workers.
    CREATE FUNCTION weftwork_enter(number bigint) RETURNS bigint LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('SET LOCAL weftwork.workspace TO %L', COALESCE(number::text, ''));
        RETURN number;
    END $$;

    -- Sets the viewer for the rest of the transaction; returns what a view needs to know first. The lists are those
    -- that name the user, one of their groups, or everyone.
    CREATE FUNCTION weftwork_open(workspace_name text, viewer text)
        RETURNS TABLE (id bigint, version bigint, known boolean, lists bigint[], passages bigint, words bigint,
                       everything bigint)
        LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode TO force_custom_plan AS $$
    DECLARE
        number bigint;
    BEGIN
        SELECT weftwork_enter(d.id) INTO number FROM directory d WHERE d.name = workspace_name;
        IF number IS NULL THEN RETURN; END IF;
        SET LOCAL weftwork.reach TO 'all';
        SELECT w.version, u.known, v.lists, t.visible, t.words, t.passages
        INTO version, known, lists, passages, words, everything
        FROM workspaces w
        CROSS JOIN LATERAL (SELECT EXISTS (
            SELECT 1 FROM users x WHERE x.workspace = number AND x.name = viewer) AS known) u
        CROSS JOIN LATERAL (
            SELECT COALESCE(array_agg(DISTINCT p.acl ORDER BY p.acl), '{}') AS lists FROM acl_principals p
            WHERE p.workspace = number AND u.known AND p.principal = ANY (
                ARRAY['*', viewer] || ARRAY(SELECT 'group:' || m.team FROM members m
                                            WHERE m.workspace = number AND m.who = viewer))) v
        CROSS JOIN LATERAL (
            SELECT COALESCE(sum(a.passages) FILTER (WHERE a.id = ANY (v.lists)), 0)::bigint AS visible,
                COALESCE(sum(a.words) FILTER (WHERE a.id = ANY (v.lists)), 0)::bigint AS words,
                COALESCE(sum(a.passages), 0)::bigint AS passages
            FROM acls a WHERE a.workspace = number) t
        WHERE w.workspace = number;
        IF version IS NULL THEN RETURN; END IF;
        id := number;
        EXECUTE format('SET LOCAL weftwork.viewer TO %L', viewer);
        EXECUTE format('SET LOCAL weftwork.lists TO %L', lists::text);
        SET LOCAL weftwork.reach TO 'viewer';
        RETURN NEXT;
    END $$;

    -- The visible nodes whose title or source looks like a text.
    CREATE FUNCTION weftwork_alike(wanted text, minimum real)
        RETURNS TABLE (node bigint, likeness real)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
        SET plan_cache_mode TO force_custom_plan AS $$
    DECLARE
        number bigint := weftwork_workspace();
        visible bigint[] := weftwork_lists();
    BEGIN
        PERFORM set_config('pg_trgm.similarity_threshold', minimum::text, true);
        RETURN QUERY SELECT found.pk, max(found.likeness) FROM (
            SELECT n.pk, similarity(n.title, wanted) AS likeness FROM nodes n
            WHERE n.workspace = number AND n.title % wanted AND n.acl = ANY (visible)
            UNION ALL
            SELECT n.pk, similarity(n.source, wanted) FROM nodes n
            WHERE n.workspace = number AND n.source % wanted AND n.source <> '' AND n.acl = ANY (visible)
        ) found GROUP BY found.pk;
    END $$;

    -- Words of the visible passages that look most like one of these.
    CREATE FUNCTION weftwork_words_like(wanted text[], minimum real, most bigint)
        RETURNS TABLE (asked text, word text)
        LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
        SET plan_cache_mode TO force_custom_plan AS $$
    DECLARE
        number bigint := weftwork_workspace();
        visible bigint[] := weftwork_lists();
    BEGIN
        PERFORM set_config('pg_trgm.similarity_threshold', minimum::text, true);
        RETURN QUERY SELECT w.asked, near.word FROM unnest(wanted) AS w (asked) CROSS JOIN LATERAL (
            SELECT v.word FROM vocabulary v
            WHERE v.workspace = number AND v.word % w.asked AND v.acl = ANY (visible)
            GROUP BY v.word ORDER BY similarity(v.word, w.asked) DESC, v.word LIMIT most
        ) near;
    END $$;
"""

_MINE = "workspace = (SELECT weftwork_workspace())"
_EVERYTHING = "(SELECT weftwork_all())"


def _conditions() -> dict[str, str]:
    """The condition for reading a row, by table."""
    visible = "{column} = ANY ((SELECT weftwork_lists())::bigint[])"
    node = "EXISTS (SELECT 1 FROM nodes n WHERE n.workspace = {table}.workspace AND n.pk = {table}.{column})"
    conditions = {
        name: f"{_MINE} AND ({_EVERYTHING} OR {visible.format(column='id' if name == 'acls' else 'acl')})"
        for name in _LISTED
    }
    conditions |= {
        name: f"{_MINE} AND ({_EVERYTHING} OR {node.format(table=name, column='node')})" for name in _OF_A_NODE
    }
    ends = " AND ".join(node.format(table="edges", column=end) for end in ("source", "target"))
    conditions["edges"] = f"{_MINE} AND ({_EVERYTHING} OR ({ends}))"
    own_rows = f"{_MINE} AND ({_EVERYTHING} OR who = (SELECT weftwork_user()))"
    conditions |= dict.fromkeys(_OWN, own_rows) | {"activity": own_rows}
    conditions |= dict.fromkeys(_SHARED, _MINE)
    conditions |= dict.fromkeys(_FOR_WRITING, f"{_MINE} AND {_EVERYTHING}")
    conditions |= dict.fromkeys(SERVICE, _EVERYTHING)
    return conditions


def policies(*, subqueries: bool = True) -> dict[str, tuple[str, ...]]:
    """The statements that make the policies of each table; only `weftwork.reach = all` may write.

    Citus takes no policy with a sub-query: there, tables that follow a node compare the workspace alone, and settings
    are read for each row.
    """
    statements: dict[str, tuple[str, ...]] = {}
    for table, condition in _conditions().items():
        writing = _EVERYTHING if table in SERVICE else f"{_MINE} AND {_EVERYTHING}"
        reading = condition if subqueries or "EXISTS" not in condition else _MINE
        if not subqueries:
            reading, writing = (_SUBQUERY.sub(r"\1", text) for text in (reading, writing))
        statements[table] = (
            f"CREATE POLICY reading ON {table} FOR SELECT USING ({reading});",
            f"CREATE POLICY writing ON {table} FOR ALL USING ({writing}) WITH CHECK ({writing});",
        )
    return statements


_SUBQUERY = re.compile(r"\(SELECT (weftwork_\w+\(\))\)")


def policies_for(*tables: str) -> str:
    """The statements that switch on row-level security for new tables."""
    made = policies()
    return "\n".join(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY;\n" + "\n".join(made[name]) for name in tables)


GRANTS = (
    f"GRANT USAGE ON SCHEMA weftwork TO {APPLICATION};"
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join((*_conditions(), *_PUBLIC, 'audit'))} TO {APPLICATION};"
    f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA weftwork TO {APPLICATION};"
)
"""Privileges of the role."""

ROLE = f"""
    DO $$ BEGIN
        BEGIN
            CREATE ROLE {APPLICATION} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        EXECUTE format('GRANT {APPLICATION} TO %I', session_user);
    EXCEPTION WHEN insufficient_privilege THEN
        RAISE NOTICE 'the role {APPLICATION} could not be made';
    END $$;
"""
"""Creates the role if the login may; else an administrator does, and the next start grants to it."""
