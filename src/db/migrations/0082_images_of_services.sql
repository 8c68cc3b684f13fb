alter table execution
  -- The images of the services beside its command, as `image`; without those that only a tag names.
  add column service_images text[] not null default '{}',
  add constraint service_images_are_named_by_their_digests
    check (array_to_string(service_images, ' ', '-') ~ '^([a-f0-9]{16}( [a-f0-9]{16})*)?$');
