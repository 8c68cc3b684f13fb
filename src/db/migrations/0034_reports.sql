-- What forges are told: in which order, what may have been written twice, and of what they are told at all.

-- Rows of one lane are sent in the order in which they were wanted: what a pull request shows, the checks of a commit.
alter table forge_outbox add column lane text not null;
create sequence forge_outbox_turn;
alter table forge_outbox add column turn bigint not null default nextval('forge_outbox_turn');
-- Somebody may have written it without having recorded that: whoever sends next looks again some time later, and
-- removes doubles.
alter table forge_outbox add column is_unsettled boolean not null default false;
alter table forge_outbox add column look_again_at timestamptz;
create index forge_outbox_doubtful on forge_outbox (look_again_at) where look_again_at is not null;
create index forge_outbox_order on forge_outbox (repository, turn)
  where sent_revision < revision and failed_at is null;

-- Graphs and requests for measuring of which a forge is told.
create table forge_subject (
  repository text not null references forge_repository on delete cascade,
  kind text not null,
  id uuid not null,
  sha text not null,
  -- Null: of a branch or a tag.
  pull integer,
  -- Of a graph: its check run's name.
  name text not null,
  -- Somebody asked for it in a comment, and hears of it in any case.
  was_asked_for boolean not null,
  noted_at timestamptz not null,
  -- What the outbox was last told of, in the source's words; null: of nothing.
  told_version text,
  -- Nothing changes any more, unless somebody intervenes.
  is_over boolean not null default false,
  told_at timestamptz,
  primary key (kind, id),
  constraint a_subject_is_of_a_kind check (kind in ('graph', 'request')),
  constraint a_subject_is_of_a_commit check (sha ~ '^[0-9a-f]{7,40}$')
);
create index forge_subject_under_way on forge_subject (noted_at) where not is_over;
create index forge_subject_over on forge_subject (told_at) where is_over;
create index forge_subject_of_pull on forge_subject (repository, pull) where pull is not null;
create index forge_subject_of_commit on forge_subject (repository, sha, name) where kind = 'graph';
