-- works-with: 87
-- How blobs are split into chunks (REv2's SplitBlob and SpliceBlob), so that no blob is split twice.

create table chunk_list (
  project      text not null,
  -- `hash/size`, like each of `chunks`. The concatenated chunks are the blob: that was checked before the row was written.
  blob         text not null,
  chunks       text[] not null,
  last_used_at timestamptz not null default now(),
  primary key (project, blob),
  -- Of the shortest hashes, so many fit into a message of 4 MiB.
  constraint a_list_has_chunks check (cardinality(chunks) between 1 and 100000)
);

create index chunk_list_by_use on chunk_list (last_used_at);
