-- Where commits and pull requests live, what forges told of them, and what is to be told them.

-- A repository that the farm watches.
create table forge_repository (
  -- As graphs call it.
  name text primary key,
  kind text not null,
  -- How the forge calls it: `owner/name` at GitHub, a URL for a plain Git remote.
  slug text not null,
  -- What is fetched.
  url text not null,
  default_branch text not null,
  -- What is done with its commits: named graph, suite of benchmarks, who may do what by which permission.
  policy jsonb not null,
  added_by text not null,
  added_at timestamptz not null,
  -- When all of it was last compared with the forge, and from when on comments are still to be read.
  reconciled_at timestamptz,
  comments_since timestamptz not null,
  -- Whoever works on it does so alone until then, so that no older reading overtakes a newer one. The epoch
  -- goes up with each: who has lost it writes nothing any more.
  held_by uuid,
  held_until timestamptz,
  epoch integer not null default 0,
  -- When it is to be compared with the forge next, and what went wrong the last time.
  next_at timestamptz not null,
  error text,
  failures integer not null default 0,
  constraint a_forge_is_known check (kind in ('github', 'git')),
  constraint a_forge_repository_is_watched_once unique (kind, slug)
);

-- A webhook that came, to be worked on once. Rows go some days after they are done.
create table forge_delivery (
  -- The forge's own id of it: the same one never counts twice.
  id text primary key,
  event text not null,
  -- The repository, as the forge calls it; empty where it names none.
  slug text not null,
  -- What we read of it, already parsed: never the raw body.
  content jsonb not null,
  received_at timestamptz not null,
  state text not null default 'waiting',
  attempts integer not null default 0,
  next_at timestamptz not null,
  done_at timestamptz,
  error text,
  constraint a_delivery_is_in_a_state check (state in ('waiting', 'done', 'failed')),
  constraint a_delivery_that_is_over_says_when check ((state = 'waiting') = (done_at is null))
);
create index forge_delivery_waiting on forge_delivery (slug, next_at) where state = 'waiting';
create index forge_delivery_latest on forge_delivery (received_at desc, id desc);

-- Webhooks that never came, and that the forge was asked to send again. Once each: what they would have told
-- is read anew anyway.
create table forge_redelivery (
  id text primary key,
  asked_at timestamptz not null
);

-- Branches and tags as last seen, and the head for which all that is to be was made.
create table forge_ref (
  repository text not null references forge_repository on delete cascade,
  ref text not null,
  head text not null,
  seen_at timestamptz not null,
  worked_head text,
  -- Why nothing could be made of it.
  problem text,
  primary key (repository, ref),
  constraint a_head_is_a_commit check (head ~ '^[0-9a-f]{40}$')
);

create table forge_pull (
  repository text not null references forge_repository on delete cascade,
  number integer not null,
  state text not null,
  title text not null,
  author text not null,
  head text not null,
  -- The earliest that the forge, by its own clock, is known to have had this head: what somebody said before
  -- was not said of it.
  head_since timestamptz not null,
  base_ref text not null,
  base_sha text not null,
  head_repository text,
  is_fork boolean not null,
  updated_at timestamptz not null,
  -- The situation for which all that is to be was made: `what-to-make.ts` names them.
  settled text,
  problem text,
  -- A maintainer's word for one commit. It ends when the head moves.
  approved_head text,
  approved_by text,
  approved_at timestamptz,
  primary key (repository, number),
  constraint a_pull_request_is_in_a_state check (state in ('open', 'closed', 'merged')),
  constraint a_head_is_a_commit check (head ~ '^[0-9a-f]{40}$'),
  constraint an_approval_is_of_somebody
    check ((approved_head is null) = (approved_by is null) and (approved_head is null) = (approved_at is null))
);

-- Graphs that were made for them. A row is written before its graph, and names it: whoever comes after a crash
-- makes the same one, or cancels it.
create table forge_graph (
  id uuid primary key,
  repository text not null references forge_repository on delete cascade,
  -- In full: `refs/heads/main`, `refs/pull/7/head`.
  ref text not null,
  sha text not null,
  pull integer,
  -- A commit that comes back after its graph was cancelled gets another.
  generation integer not null,
  made_at timestamptz not null,
  -- Nobody needs it any more; and the graph was told so.
  cancelled_at timestamptz,
  is_told boolean not null default false,
  constraint a_graph_is_of_a_commit check (sha ~ '^[0-9a-f]{40}$'),
  constraint a_commit_of_a_ref_has_one_graph_a_generation unique (repository, ref, sha, generation)
);
create index forge_graph_of_pull on forge_graph (repository, pull) where pull is not null;
create index forge_graph_to_tell on forge_graph (repository) where cancelled_at is not null and not is_told;

-- Comments in which somebody asked for something. Each is carried out once, as it was first read.
create table forge_comment (
  repository text not null references forge_repository on delete cascade,
  id text not null,
  pull integer not null,
  author text not null,
  -- The line that asked, and the head of the pull request when it was read.
  command text not null,
  head text not null,
  -- Since when it was there, by the forge's clock; null when it may have come after the comment, so that nobody
  -- knows which one its author saw.
  head_seen_at timestamptz,
  -- Changed since it was written, and before it was read.
  edited boolean not null,
  created_at timestamptz not null,
  state text not null default 'waiting',
  attempts integer not null default 0,
  leased_until timestamptz,
  next_at timestamptz not null,
  answer text,
  error text,
  primary key (repository, id),
  constraint a_command_is_in_a_state check (state in ('waiting', 'done', 'refused'))
);
create index forge_comment_waiting on forge_comment (next_at) where state = 'waiting';

-- What a forge is to show. Each row says what is wanted now, and which revision of it was sent; whoever
-- sends looks for its marker first, so that a crash between sending and recording doubles nothing.
create table forge_outbox (
  repository text not null references forge_repository on delete cascade,
  -- `comment/PULL`, `check/SHA/NAME`, `reply/COMMENT`, `reaction/COMMENT`, `label/PULL/NAME`, `minimise/NODE`.
  key text not null,
  content jsonb not null,
  revision integer not null default 1,
  sent_revision integer not null default 0,
  remote_id text,
  attempts integer not null default 0,
  -- One sender at a time: this number goes up with each, and only its holder records.
  epoch integer not null default 0,
  leased_until timestamptz,
  next_at timestamptz not null,
  error text,
  -- Given up: it will never succeed, and says why.
  failed_at timestamptz,
  primary key (repository, key),
  constraint what_was_sent_was_wanted check (sent_revision <= revision)
);
create index forge_outbox_waiting on forge_outbox (next_at)
  where sent_revision < revision and failed_at is null;

-- One more thing that somebody may be allowed to do: say which repositories are watched, and how.
alter table grant_rule drop constraint a_verb_is_known;
alter table grant_rule add constraint a_verb_is_known check (verb in
  ('*', 'submit', 'cancel', 'retrigger', 'waive', 'activate', 'release', 'customise', 'prioritise',
   'clone', 'report', 'define', 'sign', 'execute', 'cache', 'benchmark', 'measure', 'administer',
   'work', 'secret', 'forge'));
