-- The tables of a run. `database.py` fills in the columns of the records, with their types.
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stages (name TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS items (
    task TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, cluster TEXT NOT NULL,
    gold_source TEXT NOT NULL, covariates TEXT NOT NULL, texts TEXT NOT NULL, payload BLOB NOT NULL,
    PRIMARY KEY (task, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_by_id ON items (task, id);
CREATE TABLE IF NOT EXISTS drafts (
    task TEXT NOT NULL, test TEXT NOT NULL, position INTEGER NOT NULL, item_id TEXT NOT NULL, variant TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, voted INTEGER NOT NULL, case_id TEXT, texts TEXT, payload BLOB,
    PRIMARY KEY (task, test, position)
) WITHOUT ROWID;
-- Rows of cases are long and come in the order of the plan, not of the key: a table in the order of its key would leave
-- half of every page empty.
CREATE TABLE IF NOT EXISTS cases (
    task TEXT NOT NULL, test TEXT NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, item_id TEXT NOT NULL,
    texts TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (task, test, position)
);
CREATE TABLE IF NOT EXISTS revised_cases (id TEXT PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, case_id TEXT NOT NULL, judge TEXT NOT NULL,
    repeat INTEGER NOT NULL, occasion INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS occasions (
    place INTEGER PRIMARY KEY, question INTEGER NOT NULL, occasion INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, started REAL NOT NULL,
    worst REAL, outcome TEXT, final INTEGER, cost REAL, detail TEXT, payload TEXT, checksum INTEGER
);
CREATE INDEX IF NOT EXISTS calls_by_key ON calls (key) WHERE payload IS NOT NULL;
CREATE TABLE IF NOT EXISTS model_notes (
    model TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (model, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (
    owner TEXT NOT NULL, key TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, task TEXT NOT NULL,
    test TEXT NOT NULL, model TEXT NOT NULL, cost REAL, prompt_tokens INTEGER, completion_tokens INTEGER,
    not_settable TEXT NOT NULL, model_version TEXT NOT NULL, answered TEXT NOT NULL,
    cached_tokens INTEGER, saved REAL NOT NULL, PRIMARY KEY (owner, key, role, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    {record_columns}, reply TEXT, probabilities TEXT,
    checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS records_by_trial ON records (trial_id);
CREATE TABLE IF NOT EXISTS measures (position INTEGER PRIMARY KEY, payload TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stage_tables (name TEXT PRIMARY KEY, spec TEXT NOT NULL);
