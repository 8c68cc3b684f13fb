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
  -- Whoever polls it does so alone until then.
  polled_until timestamptz,
  poll_error text,
  constraint a_forge_is_known check (kind in ('github', 'git')),
  constraint a_forge_repository_is_watched_once unique (kind, slug)
);

-- A webhook that came, to be worked on once. Rows go some days after they are done.
create table forge_delivery (
  -- The forge's own id of it: the same one never counts twice.
  id text primary key,
  event text not null,
  -- What we read of it, already parsed: never the raw body.
  content jsonb not null,
  received_at timestamptz not null,
  state text not null default 'waiting',
  attempts integer not null default 0,
  leased_until timestamptz,
  next_at timestamptz not null,
  done_at timestamptz,
  error text,
  constraint a_delivery_is_in_a_state check (state in ('waiting', 'done', 'failed')),
  constraint a_delivery_that_is_over_says_when check ((state = 'waiting') = (done_at is null))
);
create index forge_delivery_waiting on forge_delivery (next_at) where state = 'waiting';

-- Branches and tags as last seen, and the head for which all that is to be was made.
create table forge_ref (
  repository text not null references forge_repository on delete cascade,
  ref text not null,
  head text not null,
  seen_at timestamptz not null,
  worked_head text,
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
  base_ref text not null,
  base_sha text not null,
  head_repository text,
  is_fork boolean not null,
  updated_at timestamptz not null,
  -- The head for which all that is to be was made.
  worked_head text,
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

-- Comments in which somebody asked for something. Each is carried out once, as it was first read.
create table forge_comment (
  repository text not null references forge_repository on delete cascade,
  id text not null,
  pull integer not null,
  author text not null,
  -- The line that asked, and the head of the pull request when it was read.
  command text not null,
  head text not null,
  created_at timestamptz not null,
  state text not null default 'waiting',
  attempts integer not null default 0,
  leased_until timestamptz,
  next_at timestamptz not null,
  answer text,
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
