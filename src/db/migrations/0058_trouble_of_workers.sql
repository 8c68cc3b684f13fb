-- Why a worker that is there can run nothing at present, in its own words; null while it can.
alter table worker add column trouble text,
  add constraint worker_trouble_is_short check (char_length(trouble) between 1 and 1000);
