import { join } from "node:path";

const allow = { allow: {} };
const anybody = { authenticationPolicy: allow };
const maximumMessageSizeBytes = 16 * 1_048_576;
const gibibyte = 1_073_741_824;

/** Where the processes of a Buildbarn on one machine are. Addresses are `host:port`. */
export interface BuildbarnPlaces {
  readonly directory: string;
  /** Clients connect to it: the storage, which forwards executions to the scheduler. */
  readonly storage: string;
  readonly schedulerForClients: string;
  readonly schedulerForWorkers: string;
}

/**
 * The configuration of `bb_storage`: blobs and action results in files of a fixed size, in persistent blocks.
 *
 * A blob must fit into one block: 8 blocks of 2 GiB.
 */
export function storageConfig(places: BuildbarnPlaces, withExecution: boolean): object {
  const { directory, storage, schedulerForClients } = places;
  return {
    grpcServers: [{ listenAddresses: [storage], ...anybody }],
    maximumMessageSizeBytes,
    global: {},
    contentAddressableStorage: {
      backend: localBlobs(join(directory, "cas"), 16 * gibibyte, 64 * 1_048_576),
      getAuthorizer: allow,
      putAuthorizer: allow,
      findMissingAuthorizer: allow,
    },
    actionCache: {
      backend: localBlobs(join(directory, "ac"), 256 * 1_048_576, 1_048_576),
      getAuthorizer: allow,
      putAuthorizer: allow,
    },
    ...(withExecution
      ? { schedulers: { "": { endpoint: { address: schedulerForClients } } } }
      : {}),
    executeAuthorizer: allow,
  };
}

/** Directories that `bb_storage` and the others expect to exist. */
export function buildbarnDirectories({ directory }: BuildbarnPlaces): string[] {
  return ["cas/state", "ac/state", "build", "inputs"].map((name) => join(directory, name));
}

function localBlobs(directory: string, sizeBytes: number, mapBytes: number): object {
  return {
    local: {
      keyLocationMapOnBlockDevice: { file: { path: join(directory, "map"), sizeBytes: mapBytes } },
      keyLocationMapMaximumGetAttempts: 8,
      keyLocationMapMaximumPutAttempts: 32,
      oldBlocks: 2,
      currentBlocks: 4,
      newBlocks: 1,
      blocksOnBlockDevice: {
        source: { file: { path: join(directory, "blocks"), sizeBytes } },
        spareBlocks: 1,
      },
      persistent: { stateDirectoryPath: join(directory, "state"), minimumEpochInterval: "300s" },
    },
  };
}

const blobs = (address: string) => ({ grpc: { client: { address } } });

/** The configuration of `bb_scheduler`. */
export function schedulerConfig(places: BuildbarnPlaces): object {
  return {
    clientGrpcServers: [{ listenAddresses: [places.schedulerForClients], ...anybody }],
    workerGrpcServers: [{ listenAddresses: [places.schedulerForWorkers], ...anybody }],
    contentAddressableStorage: blobs(places.storage),
    maximumMessageSizeBytes,
    global: {},
    executeAuthorizer: allow,
    modifyDrainsAuthorizer: allow,
    killOperationsAuthorizer: allow,
    synchronizeAuthorizer: allow,
    actionRouter: {
      simple: {
        platformKeyExtractor: { action: {} },
        invocationKeyExtractors: [{ toolInvocationId: {} }],
        initialSizeClassAnalyzer: {
          defaultExecutionTimeout: "1800s",
          maximumExecutionTimeout: "7200s",
        },
      },
    },
    platformQueueWithNoWorkersTimeout: "900s",
  };
}

/** The configuration of `bb_worker`: input files are hard links into a cache. */
export function workerConfig(places: BuildbarnPlaces, slots: number): object {
  const { directory, storage, schedulerForWorkers } = places;
  return {
    blobstore: { contentAddressableStorage: blobs(storage), actionCache: blobs(storage) },
    maximumMessageSizeBytes,
    scheduler: { address: schedulerForWorkers },
    global: {},
    buildDirectories: [
      {
        native: {
          buildDirectoryPath: join(directory, "build"),
          cacheDirectoryPath: join(directory, "inputs"),
          maximumCacheFileCount: 10_000,
          maximumCacheSizeBytes: gibibyte,
          cacheReplacementPolicy: "LEAST_RECENTLY_USED",
        },
        runners: [
          {
            endpoint: { address: `unix://${runnerSocket(places)}` },
            concurrency: slots,
            maximumFilePoolFileCount: 10_000,
            maximumFilePoolSizeBytes: gibibyte,
            platform: {},
            workerId: { hostname: "localhost" },
          },
        ],
      },
    ],
    inputDownloadConcurrency: 10,
    outputUploadConcurrency: 10,
    directoryCache: {
      maximumCount: 1_000,
      maximumSizeBytes: 1_048_576,
      cacheReplacementPolicy: "LEAST_RECENTLY_USED",
    },
  };
}

/** The configuration of `bb_runner`, which starts the actions' commands, without a sandbox. */
export function runnerConfig(places: BuildbarnPlaces): object {
  return {
    buildDirectoryPath: join(places.directory, "build"),
    global: {},
    grpcServers: [{ listenPaths: [runnerSocket(places)], ...anybody }],
  };
}

function runnerSocket({ directory }: BuildbarnPlaces): string {
  return join(directory, "runner.sock");
}
