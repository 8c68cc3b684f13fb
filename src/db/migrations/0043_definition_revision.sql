-- How often people have changed a job's definition in its graph. A change names the one that it builds upon,
-- so that of two changes at once the second is refused.
alter table job add column definition_revision integer not null default 0;
