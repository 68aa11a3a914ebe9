"""Row-level security: defence in depth if a query omits its access filter.

Settings of a transaction name the viewer: `weftwork.workspace` (a number), `weftwork.user`, and `weftwork.reach`, which
is `all` for the store's own work on a whole workspace. The viewer's access lists are computed by the database at the
start of the transaction (`weftwork.lists`), not taken from the query. Rows without a list follow their node.

Fuzzy search runs in SECURITY DEFINER functions, which check the same conditions: PostgreSQL does not use a trigram
index under a policy, since its operator is not leakproof. Functions are planned for one workspace, so that they read
one partition of each table.
"""

from __future__ import annotations

APPLICATION = "weftwork_app"
"""The role of the store's connections (SET ROLE), to which the policies apply."""

_LISTED = ("acls", "nodes", "passages", "words", "vocabulary", "embeddings", "changes")
_OF_A_NODE = ("tags", "fields", "page_vectors", "feedback", "usage")
FOLLOWING = (*_OF_A_NODE, "edges")
"""Tables whose policy queries `nodes`."""
_SHARED = ("workspaces", "users", "members", "acl_principals", "models", "commits")
_OWN = ("contexts",)
_FOR_WRITING = ("marks",)
_SERVICE = ("keys", "key_workspaces", "jobs", "waiting", "embedding_cache")
_PUBLIC = ("directory", "migrations")

FUNCTIONS = """
    CREATE FUNCTION weftwork_workspace() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
        RETURN NULLIF(current_setting('weftwork.workspace', true), '')::bigint;

    CREATE FUNCTION weftwork_user() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
        RETURN current_setting('weftwork.user', true);

    CREATE FUNCTION weftwork_all() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
        RETURN COALESCE(current_setting('weftwork.reach', true), '') = 'all';

    -- Numbers of all lists that name the user, one of their groups, or everyone.
    CREATE FUNCTION weftwork_lists_of(number bigint, viewer text) RETURNS bigint[] LANGUAGE sql STABLE
        RETURN COALESCE((
            SELECT array_agg(DISTINCT acl ORDER BY acl) FROM acl_principals
            WHERE workspace = number AND principal = ANY (
                ARRAY['*', viewer] || ARRAY(SELECT 'group:' || team FROM members
                                            WHERE workspace = number AND who = viewer))
              AND EXISTS (SELECT 1 FROM users WHERE workspace = number AND name = viewer)
        ), '{}');

    -- The lists of the viewer, as computed at the start of the transaction.
    CREATE FUNCTION weftwork_lists() RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE
        RETURN COALESCE(NULLIF(current_setting('weftwork.lists', true), ''), '{}')::bigint[];

    -- Sets the viewer for the rest of the transaction; returns what a view needs to know first.
    CREATE FUNCTION weftwork_open_at(number bigint, viewer text)
        RETURNS TABLE (id bigint, version bigint, known boolean, lists bigint[], passages bigint, words bigint)
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
        SET plan_cache_mode TO force_custom_plan AS $$
    DECLARE
        visible bigint[] := weftwork_lists_of(number, viewer);
    BEGIN
        PERFORM set_config('weftwork.workspace', number::text, true), set_config('weftwork.user', viewer, true),
                set_config('weftwork.lists', visible::text, true), set_config('weftwork.reach', 'viewer', true);
        RETURN QUERY SELECT number, w.version,
            EXISTS (SELECT 1 FROM users u WHERE u.workspace = number AND u.name = viewer), visible,
            COALESCE(sum(a.passages), 0)::bigint, COALESCE(sum(a.words), 0)::bigint
        FROM workspaces w LEFT JOIN acls a ON a.workspace = number AND a.id = ANY (visible)
        WHERE w.workspace = number GROUP BY w.version;
    END $$;

    -- The same for a workspace by its name, of which the directory has the number.
    CREATE FUNCTION weftwork_open(workspace_name text, viewer text)
        RETURNS TABLE (id bigint, version bigint, known boolean, lists bigint[], passages bigint, words bigint)
        LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
        RETURN QUERY SELECT o.* FROM directory d CROSS JOIN LATERAL weftwork_open_at(COALESCE(d.place, d.id), viewer) o
        WHERE d.name = workspace_name;
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
    conditions |= dict.fromkeys(_SERVICE, _EVERYTHING)
    return conditions


def _policies() -> str:
    """The policies of all tables; only `weftwork.reach = all` may write."""
    statements = []
    for table, condition in _conditions().items():
        writing = _EVERYTHING if table in _SERVICE else f"{_MINE} AND {_EVERYTHING}"
        statements += [
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;",
            f"CREATE POLICY reading ON {table} FOR SELECT USING ({condition});",
            f"CREATE POLICY writing ON {table} FOR ALL USING ({writing}) WITH CHECK ({writing});",
        ]
    return "\n".join(statements)


POLICIES = _policies()


GRANTS = (
    f"GRANT USAGE ON SCHEMA weftwork TO {APPLICATION};"
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON {', '.join((*_conditions(), *_PUBLIC))} TO {APPLICATION};"
    f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA weftwork TO {APPLICATION};"
)
"""Privileges of the role; none on partitions, which have no policies."""

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
