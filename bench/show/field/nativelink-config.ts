import { join } from "node:path";

/** Where a NativeLink on one machine is. Addresses are `host:port`. */
interface NativeLinkPlaces {
  readonly directory: string;
  readonly clients: string;
  readonly workers: string;
}

/** The configuration of one NativeLink process: store, scheduler, and a worker that shares the store. */
export function nativeLinkConfig(places: NativeLinkPlaces, slots: number): object {
  const { directory, clients, workers } = places;
  const filesystem = (name: string) => ({
    filesystem: {
      content_path: join(directory, name),
      temp_path: join(directory, `${name}-temp`),
      eviction_policy: { max_bytes: 10_000_000_000 },
    },
  });
  const instance_name = "";
  return {
    stores: [
      { name: "RESULTS", ...filesystem("ac") },
      { name: "BLOBS", fast_slow: { fast: filesystem("cas"), slow: { noop: {} } } },
    ],
    schedulers: [{ name: "SCHEDULER", simple: { supported_platform_properties: {} } }],
    workers: [
      {
        local: {
          worker_api_endpoint: { uri: `grpc://${workers}` },
          cas_fast_slow_store: "BLOBS",
          upload_action_result: { ac_store: "RESULTS" },
          work_directory: join(directory, "work"),
          platform_properties: {},
          max_inflight_tasks: slots,
        },
      },
    ],
    servers: [
      {
        name: "clients",
        listener: { http: { socket_address: clients } },
        services: {
          cas: [{ instance_name, cas_store: "BLOBS" }],
          ac: [{ instance_name, ac_store: "RESULTS" }],
          execution: [{ instance_name, cas_store: "BLOBS", scheduler: "SCHEDULER" }],
          capabilities: [{ instance_name, remote_execution: { scheduler: "SCHEDULER" } }],
          bytestream: [{ instance_name, cas_store: "BLOBS" }],
        },
      },
      {
        name: "workers",
        listener: { http: { socket_address: workers } },
        services: { worker_api: { scheduler: "SCHEDULER" }, health: {} },
      },
    ],
  };
}
