-- Container images that workers need not pull, and the images of executions: a worker gets executions in its images first.

alter table worker
  -- The first 16 hexadecimal digits of the digests of images, those used last first.
  add column images jsonb not null default '[]',
  add constraint images_are_a_list check (jsonb_typeof(images) = 'array');

alter table execution
  -- The same of the image that it runs in; null without one, and for a tag.
  add column image text,
  add constraint an_image_is_named_by_its_digest check (image ~ '^[a-f0-9]{16}$');
