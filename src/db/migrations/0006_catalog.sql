-- Catalogs of templates: definitions with their holes unfilled, where they come from, and which one a branch uses.

alter table catalog
  -- What the entries are: jobs as they ran in some graph, or templates as they were written.
  add column holds text not null default 'jobs',
  add constraint what_a_catalog_holds_is_known check (holds in ('jobs', 'templates'));

-- Entries are written with their catalog and their definitions, by one transaction, and none of the
-- three is ever removed. Looking at both for each of 40,000 entries took four fifths of the time
-- that a new catalog takes.
alter table catalog_entry
  drop constraint catalog_entry_catalog_fkey,
  drop constraint catalog_entry_definition_fkey;

-- Which catalog a directory of definitions is. Git names a directory by its content, so a commit
-- that changes no definition is answered by one look. By repository: whoever makes two directories
-- of one name fools nobody but the readers of their own.
create table catalog_source (
  repository text not null references repository,
  tree text not null,
  catalog text not null references catalog,
  created_at timestamptz not null default now(),
  primary key (repository, tree),
  constraint a_tree_is_40_hex_digits check (tree ~ '^[0-9a-f]{40}$')
);

-- Which catalog a branch uses since when. Only ever added to: the newest row counts.
create table branch_catalog (
  repository text not null references repository,
  branch text not null,
  number bigint generated always as identity,
  catalog text not null references catalog,
  -- The commit that brought it; null when it was pushed.
  commit text,
  set_by text not null,
  since timestamptz not null default now(),
  primary key (repository, branch, number)
);

-- What is said of a branch on the server, where no merge can overwrite it; of all branches as `*`.
-- Only ever added to: the newest row counts, and one without a body takes back what was said.
create table branch_definition (
  repository text not null references repository,
  branch text not null,
  number bigint generated always as identity,
  body jsonb,
  set_by text not null,
  why text,
  set_at timestamptz not null default now(),
  primary key (repository, branch, number),
  constraint a_definition_is_of_a_branch check (branch <> '')
);

alter table graph
  -- The templates that it was made of; null for graphs from before there were any.
  add column template_catalog text references catalog;
