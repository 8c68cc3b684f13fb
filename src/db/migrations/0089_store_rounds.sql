-- works-with: 87
-- Work on a store in a bucket that one server of the farm does at a time, such as eviction. For a store in a directory,
-- files in that directory have the same purpose.
create table store_round (
  name text primary key,
  -- The process of the server that works at present, and until when it may; null while none does.
  holder uuid,
  held_until timestamptz,
  -- What the last round found; null before the first.
  noted jsonb,
  constraint a_holder_has_a_time check ((holder is null) = (held_until is null))
);
