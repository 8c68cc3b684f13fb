-- The container images of a chunked run, with the digests that their tags had when the run was prepared: all batches of a
-- run use the same images.

alter table chunked_run
  -- From the name in the job's definition to the name that is used. Empty when the farm resolves no tags.
  add column images jsonb not null default '{}',
  add constraint images_are_a_map check (jsonb_typeof(images) = 'object');
