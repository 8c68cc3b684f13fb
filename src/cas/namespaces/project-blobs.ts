import type { Clock } from "#core/clock.ts";
import { defaultProject } from "#core/default-project.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type {
  BlobStorage,
  NamespaceStorage,
  NamespaceUsage,
  UnnamedBlobs,
} from "../blob-storage.ts";
import type { BlobStore } from "../blob-store.ts";
import {
  cachingExistence,
  type ExistenceCacheOptions,
  type SeenBlobs,
} from "../existence-caching-blob-store.ts";
import { memoryBlobStore } from "../memory-blob-store.ts";
import { bytesKept, recentBlobs } from "../recent-blobs.ts";
import type { UploadStore } from "../upload-store.ts";
import { verifying } from "../verifying-blob-store.ts";
import { type Namespace, namespaceOf, ownNamespace } from "./namespace.ts";

/** The blobs of one project, in variants for different readers. */
export interface ProjectStore {
  readonly blobs: BlobStore;
  /** The same blobs, with recently written ones cached in memory. */
  readonly recent: BlobStore;
  /** The same blobs. `findMissing` checks each one on the disk and caches nothing. */
  readonly certain: BlobStore;
  /** Uploads that can be continued. Their names begin with the project, so that projects cannot share one. */
  readonly uploads: Pick<UploadStore, "committed" | "receive">;
  readonly unnamed: UnnamedBlobs;
}

/** Throws `permission_denied` when the caller may not begin a project. */
type MayBegin = () => Promise<void>;

export interface ProjectBlobs extends Pick<UploadStore, "sweep"> {
  /**
   * Returns the blobs of one project.
   *
   * The first write creates the namespace of the project. `mayBegin` is called only then, and may refuse it. Before
   * that the project has no blobs, and reads create nothing.
   */
  of(project: string, mayBegin: MayBegin): ProjectStore;
  /** Returns whether a project has begun, on any server. */
  has(project: string): Promise<boolean>;
  /** Returns the namespaces of all projects that have begun, without that of the default project. */
  namespaces(): Promise<Namespace[]>;
  usage(namespace: Namespace): Promise<NamespaceUsage>;
  /** See `BlobStorage.remove`. The next write into the project begins it again. */
  remove(namespace: Namespace, before: Date | undefined): Promise<NamespaceUsage>;
  /** Must be called when a blob of a namespace was lost, for any size: it is no longer reported as present. */
  lost(namespace: Namespace, hash: string): void;
}

/** Each has 256 directories, which eviction has to walk. */
const usuallyAtMost = 256;

const nothing = memoryBlobStore();

/** For callers whose right to write was checked before, and for writes that follow from existing results. */
export async function anyMayBegin(): Promise<void> {}

/** Opens the blobs of all projects. The namespace of a project is opened at its first use. All projects share one memory. */
export async function openProjectBlobs(parts: {
  readonly storage: BlobStorage;
  readonly clock: Clock;
  readonly existence: ExistenceCacheOptions;
  readonly isCorrupt: (project: string, digest: Digest) => void;
  readonly mostNamespaces?: number;
}): Promise<ProjectBlobs> {
  const { storage, clock, existence, isCorrupt, mostNamespaces = usuallyAtMost } = parts;
  const seen: SeenBlobs = new Map();
  const kept = bytesKept();
  const ownStorage = await storage.open(ownNamespace);
  if (ownStorage === undefined)
    throw new Error("a storage has no namespace of the default project");
  const own = stackOn(ownStorage, defaultProject, "");
  const open = new Map<string, ProjectStore>();
  const opening = new Map<string, Promise<ProjectStore | undefined>>();
  let beginning: Promise<unknown> = Promise.resolve();

  function stackOn(stored: NamespaceStorage, project: string, name: string): ProjectStore {
    const { blobs, uploads, unnamed } = stored;
    const checked = verifying(blobs, async (digest) => {
      isCorrupt(project, digest);
      await blobs.remove(digest);
    });
    const known = cachingExistence(checked, clock, existence, seen, name);
    const { store, recent } = recentBlobs(known, kept, name);
    const certain: BlobStore = {
      ...store,
      findMissing: (digests) => known.findMissingBelow(digests),
    };
    return { blobs: store, recent, certain, uploads, unnamed };
  }

  async function openNow(project: string): Promise<ProjectStore | undefined> {
    const stored = await storage.open(namespaceOf(project));
    return stored === undefined ? undefined : openedAs(project, stored);
  }

  /** Returns the one store of an open project: two calls that open it at once share its memory. */
  function openedAs(project: string, stored: NamespaceStorage): ProjectStore {
    const known = open.get(project);
    if (known !== undefined) return known;
    const store = stackOn(stored, project, `${namespaceOf(project)} `);
    open.set(project, store);
    return store;
  }

  /** Returns undefined when no server has begun the project. */
  async function find(project: string): Promise<ProjectStore | undefined> {
    const known = open.get(project) ?? opening.get(project);
    if (known !== undefined) return known;
    const store = openNow(project).finally(() => opening.delete(project));
    opening.set(project, store);
    return store;
  }

  /** Begins one project at a time to enforce the limit; two servers together may exceed it by one. */
  async function begin(project: string, mayBegin: MayBegin): Promise<ProjectStore> {
    const there = await find(project);
    if (there !== undefined) return there;
    await mayBegin();
    const begun = beginning.then(async () => {
      const begunMeanwhile = await find(project);
      if (begunMeanwhile !== undefined) return begunMeanwhile;
      if ((await storage.namespaces()).length >= mostNamespaces)
        throw tooManyProjects(mostNamespaces, project);
      return openedAs(project, await storage.create(namespaceOf(project)));
    });
    beginning = begun.catch(() => {});
    return begun;
  }

  return {
    of: (project, mayBegin) =>
      project === defaultProject
        ? own
        : (open.get(project) ??
          unopened(
            () => find(project),
            () => begin(project, mayBegin),
          )),
    has: async (project) => project === defaultProject || (await find(project)) !== undefined,
    namespaces: () => storage.namespaces(),
    usage: (namespace) => storage.usage(namespace),
    async remove(namespace, before) {
      const left = await storage.remove(namespace, before);
      if (left.blobs === 0)
        for (const project of open.keys())
          if (namespaceOf(project) === namespace) open.delete(project);
      return left;
    },
    lost(namespace, hash) {
      seen.delete(`${namespace === ownNamespace ? "" : `${namespace} `}${hash}`);
    },
    sweep: () => storage.sweepUploads(),
  };
}

function tooManyProjects(most: number, refused: string): Fault {
  return new Fault(
    "resource_exhausted",
    `the farm has ${most} projects with separate blobs, which is the limit, so ${refused.slice(0, 200)} cannot be created: ` +
      "build under the instance name of another project, let repositories share one (grange repository set), or have whoever runs the farm allow more (GRANGE_MOST_PROJECTS)",
  );
}

/** The store of a project that is not open on this server. Each read looks for the project; a write begins it. */
function unopened(
  find: () => Promise<ProjectStore | undefined>,
  begin: () => Promise<ProjectStore>,
): ProjectStore {
  const lookingFor = (which: "blobs" | "recent" | "certain"): BlobStore => {
    const here = async () => (await find())?.[which] ?? nothing;
    const begun = async () => (await begin())[which];
    return {
      get: async (digest) => (await here()).get(digest),
      read: async (digest, range) => (await here()).read(digest, range),
      findMissing: async (digests) => (await here()).findMissing(digests),
      put: async (digest, bytes, onWritten) => (await begun()).put(digest, bytes, onWritten),
      write: async (digest, chunks) => (await begun()).write(digest, chunks),
    };
  };
  return {
    blobs: lookingFor("blobs"),
    recent: lookingFor("recent"),
    certain: lookingFor("certain"),
    uploads: {
      committed: async (name) => (await find())?.uploads.committed(name) ?? 0,
      receive: async (upload) => (await begin()).uploads.receive(upload),
    },
    unnamed: {
      take: async (chunks) => (await begin()).unnamed.take(chunks),
      withHash: async (hash) => (await find())?.unnamed.withHash(hash),
    },
  };
}
