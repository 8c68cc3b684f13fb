-- The blobs of a farm whose store is a bucket. Servers ask these tables and never list the bucket.

create table bucket_namespace (
  -- Empty for the default project.
  namespace text primary key
);
insert into bucket_namespace (namespace) values ('');

create table bucket_blob (
  namespace text not null references bucket_namespace,
  hash text not null,
  size_bytes bigint not null,
  -- The key of the object. Each upload has its own, so that the removal of an old one cannot remove a new one.
  object text not null,
  last_used_at timestamptz not null,
  primary key (namespace, hash),
  constraint a_bucket_blob_has_bytes check (size_bytes > 0)
) with (fillfactor = 80);

-- Objects that the bucket may have and that no blob names: those that are being sent, and those that must be removed.
create table bucket_object (
  object text primary key,
  since timestamptz not null,
  -- The id of an upload in parts.
  upload text,
  -- No blob may be named by it any more.
  is_leaving boolean not null default false
);
create index bucket_object_since on bucket_object (since);

-- The received parts of interrupted uploads, which continue at any server.
create table bucket_upload (
  name text primary key,
  object text not null,
  size_bytes bigint not null,
  kept_at timestamptz not null,
  constraint a_kept_upload_has_bytes check (size_bytes > 0)
);
create index bucket_upload_kept_at on bucket_upload (kept_at);
