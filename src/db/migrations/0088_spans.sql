-- works-with: 87
-- The places of executions and graphs in traces of OpenTelemetry. Rows exist only for traced work, on farms that send
-- traces: all other work costs nothing here.

create table execution_span (
  execution_id uuid primary key references execution on delete cascade,
  trace_id text not null,
  span_id text not null,
  -- The span of the job or of the call that submitted it.
  parent_id text,
  constraint a_trace_id_is_32_hex_digits check (trace_id ~ '^[0-9a-f]{32}$'),
  constraint a_span_id_is_16_hex_digits check (span_id ~ '^[0-9a-f]{16}$'),
  constraint a_parent_id_is_16_hex_digits check (parent_id ~ '^[0-9a-f]{16}$')
);

create table graph_span (
  graph_id uuid primary key references graph on delete cascade,
  trace_id text not null,
  span_id text not null,
  -- The span of the client that submitted it; null without one.
  parent_id text,
  -- When its submission arrived.
  started_at timestamptz not null,
  -- The end of the graph up to which its spans were sent; null while none was.
  sent_until timestamptz,
  constraint a_trace_id_is_32_hex_digits check (trace_id ~ '^[0-9a-f]{32}$'),
  constraint a_span_id_is_16_hex_digits check (span_id ~ '^[0-9a-f]{16}$'),
  constraint a_parent_id_is_16_hex_digits check (parent_id ~ '^[0-9a-f]{16}$')
);
