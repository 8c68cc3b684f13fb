-- Catalogs that nobody uses any more are removed after some time, and definitions that no catalog and no job has.

alter table catalog
  -- When a submission last took it, up to a day late.
  add column used_at timestamptz not null default now();
create index catalog_by_use on catalog (used_at);

-- Serve the question who uses a catalog, and the foreign keys when it is removed.
create index graph_by_catalog on graph (catalog);
create index graph_by_template_catalog on graph (template_catalog) where template_catalog is not null;
create index catalog_source_by_catalog on catalog_source (catalog);
create index branch_catalog_by_catalog on branch_catalog (catalog);
create index customised_job_by_template on job (template_definition) where template_definition is not null;

alter table retention_age
  drop constraint a_retention_kind_is_known,
  add constraint a_retention_kind_is_known
    check (kind in ('executions', 'invocations', 'audit', 'definitions', 'benchmark-jobs')),
  -- A submission may take a catalog a day after `used_at`, and refers to it a moment later.
  add constraint definitions_are_kept_for_two_days check (kind <> 'definitions' or keep_ms >= 2 * 24 * 60 * 60 * 1000);
