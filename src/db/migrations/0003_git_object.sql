-- The digest of each Git blob that was ever imported, so that it is hashed once. Both
-- names are of the bytes alone: a row is true for every repository, and for ever.
-- Whether the bytes are still in the store is another question, asked there.
create table git_object (
  git_id text primary key,
  hash text not null,
  size_bytes bigint not null,
  constraint a_git_id_is_40_hex_digits check (git_id ~ '^[0-9a-f]{40}$'),
  constraint a_hash_is_64_hex_digits check (hash ~ '^[0-9a-f]{64}$'),
  constraint a_size_is_not_negative check (size_bytes >= 0)
);
