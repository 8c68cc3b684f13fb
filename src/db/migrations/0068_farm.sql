-- The farm that this database belongs to. A store of blobs carries the same id, so that a server whose blobs are
-- not the farm's is refused.
create table farm (
  is_the_only_one boolean primary key default true,
  id uuid not null,
  created_at timestamptz not null,
  -- When a store of blobs first became the farm's.
  store_claimed_at timestamptz,
  constraint there_is_one_farm check (is_the_only_one)
);
