-- Backups that were completed (`grange backup`), for `grange doctor` and /metrics. The newest tells how old the last one is.
create table backup (
  id uuid primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  -- As the command was given it, on the machine that it ran on: for people.
  directory text not null,
  host text not null,
  database_bytes bigint not null,
  blobs bigint not null,
  blob_bytes bigint not null,
  -- What this backup wrote; the rest was there from earlier ones.
  copied_bytes bigint not null,
  -- Blobs whose bytes did not fit their digest; they are not in the backup.
  damaged_blobs bigint not null,
  constraint a_backup_ends_after_it_began check (finished_at >= started_at),
  constraint sizes_of_a_backup_are_counts check (
    database_bytes >= 0 and blobs >= 0 and blob_bytes >= 0 and copied_bytes >= 0 and damaged_blobs >= 0
  )
);
create index backup_by_end on backup (finished_at desc);
