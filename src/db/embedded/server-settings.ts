/**
 * The command line of our own server.
 *
 * Small by design: a farm's hot tables are small, and the blobs are elsewhere.
 */
export function serverSettings(options: {
  readonly socketDir: string;
  readonly unsafeFast: boolean;
}): string[] {
  const settings: Record<string, string> = {
    listen_addresses: "",
    unix_socket_directories: options.socketDir,
    unix_socket_permissions: "0700",
    max_connections: "100",
    shared_buffers: "64MB",
    // JIT compilation takes milliseconds for statements that run for microseconds.
    jit: "off",
    // Queue rows are short-lived: vacuum them often.
    autovacuum_naptime: "15s",
    autovacuum_vacuum_scale_factor: "0.05",
    // Five times the default interval and five times the work each time: at the default interval, heartbeats alone kept
    // it awake.
    bgwriter_delay: "1s",
    bgwriter_lru_maxpages: "500",
    // A fifth of the default frequency. Only commits that do not wait for the disk depend on it: a crash may undo 3 s
    // of them.
    wal_writer_delay: "1s",
    wal_level: "minimal",
    max_wal_senders: "0",
    // A process less: nothing is replicated.
    max_logical_replication_workers: "0",
    // Three processes less: what is not in shared_buffers is nearly always in the page cache.
    io_method: "sync",
    log_min_messages: "warning",
    lc_messages: "C",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(options.unsafeFast
      ? {
          fsync: "off",
          synchronous_commit: "off",
          full_page_writes: "off",
          // Its directory may be in memory.
          max_wal_size: "256MB",
        }
      : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
