import type { Logger } from "pino";
import type { WriteQuota } from "#access/blob-writes/write-quota.ts";
import type { CallerRegistry } from "#access/caller-registry.ts";
import type { FarmKey } from "#access/farm-key.ts";
import type { IdentityKeys } from "#access/identity/identity-keys.ts";
import type { Principal } from "#access/principal.ts";
import type { ProjectShare } from "#access/projects/project-share.ts";
import type { SecretService } from "#access/secrets/secret-service.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import type { StoreStanding } from "#api/store.ts";
import type { Caches } from "#caches/caches.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { ProjectBlobs } from "#cas/namespaces/project-blobs.ts";
import type { Clock } from "#core/clock.ts";
import type { IdleState } from "#core/idle-state.ts";
import type { PlatformAlias } from "#core/platform-aliases.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { ReadReplicas } from "#db/read-replicas.ts";
import type { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { ForgeReaders } from "#forge/readers/forge-readers.ts";
import type { Mirrors } from "#git/fetch-commit.ts";
import type { Git } from "#git/run-git.ts";
import type { CatalogCache } from "#graphs/catalogs/catalog-cache.ts";
import type { CommitInputReader } from "#graphs/commit-inputs.ts";
import type { InProject } from "#graphs/project-of-jobs.ts";
import type { RepositoryAccess } from "#graphs/repository-access.ts";
import type { ResolveImage } from "#graphs/resolved-image.ts";
import type { AskingNotes } from "#invocations/asking-notes.ts";
import type { OperationService } from "#invocations/operation-service.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import type { LabTimes } from "#perf/lab-times.ts";
import type { SourceService } from "#perf/requests/source-service.ts";
import type { DesiredWorkersService } from "#size-classes/desired-workers-service.ts";
import type { Tracing } from "#tracing/tracing.ts";
import type { OpenForges } from "./forge/open-forges.ts";
import type { ReplicaReads } from "./http/read-from-replica.ts";
import type { ImagePulls } from "./image-pulls.ts";
import type { JobTokens } from "./job-tokens.ts";
import type { RegistryLogins } from "./registry-logins.ts";
import type { StoreCounts } from "./retention/store-census.ts";
import type { SignInModule } from "./sign-in/open-sign-in.ts";

/** The open services of a running server. */
export interface Services extends Service {
  readonly db: Db;
  /** Read-only copies of the database, for answers that may lag. */
  readonly replicas: ReadReplicas;
  readonly replicaReads: ReplicaReads;
  readonly databaseDescription: string;
  readonly databaseOpenedInMs: number;
  readonly clock: Clock;
  readonly idle: IdleState;
  readonly callers: CallerRegistry;
  readonly signIn: SignInModule;
  readonly logger: Logger;
  /** Undefined without tracing. */
  readonly tracing: Tracing | undefined;
  /** The farm's signing key. */
  readonly farmKey: FarmKey;
  /** The secrets of runs. */
  readonly secrets: SecretService;
  readonly secretsInClear: boolean;
  /** The keys that sign identity tokens of runs. */
  readonly identityKeys: IdentityKeys;
  /** The tokens of runs. */
  readonly jobTokens: JobTokens;
  /** Blobs by project. */
  readonly stores: ProjectBlobs;
  /** The quota of bytes that principals may write into projects. */
  readonly writeQuota: WriteQuota;
  /** The limit on the number of projects that each principal may create. */
  readonly projectShare: ProjectShare;
  readonly blobsOf: (project: string) => BlobStore;
  readonly treesOf: (project: string) => OutputTrees;
  /** The blobs of the benchmark lab. */
  readonly blobs: BlobStore;
  readonly trees: OutputTrees;
  /** The size of the store of all projects, and the data that was removed from it. */
  readonly storeStanding: () => Promise<StoreStanding>;
  /** Absent when blobs are on this machine. Rejects when their bucket does not answer. */
  readonly askStore: (() => Promise<void>) | undefined;
  /** How many blobs FindMissingBlobs looks up at once; undefined: the default. */
  readonly checkedAtOnce: number | undefined;
  /** The blobs of the store by project, as of its last count; null until the first count. */
  readonly storeCounts: () => Promise<StoreCounts | null>;
  readonly caches: Caches;
  readonly queue: ExecutionQueue;
  readonly operations: OperationService;
  /** Records of the calling clients, for pages. */
  readonly notes: AskingNotes;
  readonly git: Git;
  readonly mirrors: Mirrors;
  readonly access: RepositoryAccess;
  /** Whether a forge reports the branches of a repository. */
  readonly isWatched: (repository: string) => Promise<boolean>;
  readonly addressWithCredential: (address: string, by: Principal) => Promise<string>;
  readonly inputs: CommitInputReader;
  /** Where graphs keep their blobs, by project. */
  readonly inProject: InProject;
  readonly evaluator: TemplateEvaluator;
  readonly cache: CatalogCache;
  /** The hosts on private addresses that the farm may contact now. */
  readonly privateHosts: () => Promise<PrivateHosts>;
  /** Properties of clients' actions that mean others. */
  readonly platformAliases: readonly PlatformAlias[];
  /** Replaces tags of container images by digests; undefined when the farm knows no registries. */
  readonly resolveImage: ResolveImage | undefined;
  /** The logins of projects at registries of container images. */
  readonly registryLogins: RegistryLogins;
  readonly imagePulls: ImagePulls;
  /** The sources of the artifacts of benchmark suites. */
  readonly sources: SourceService;
  /** The right to read repositories that follow the permissions at their forges. */
  readonly forgeReaders: ForgeReaders;
  /** The forges with the farm's commits and pull requests. */
  readonly forges: OpenForges;
  readonly dataDir: string;
  /** The time limits between the benchmark lab and its collectors. */
  readonly labTimes: LabTimes;
  /** The price per minute of a busy worker; 0 when no price is set. */
  readonly pricePerWorkerMinute: number;
  /** The desired number of workers of each size class. */
  readonly desiredWorkers: DesiredWorkersService;
}
