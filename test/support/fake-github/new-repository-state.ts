import type { FakeState, RepositoryState } from "./fake-state.ts";
import type { GitStore } from "./git-store.ts";

interface NewRepository {
  readonly isPrivate?: boolean;
  readonly isFork?: boolean;
  readonly isInstalled?: boolean;
}

/** Returns the state of an empty repository. */
export function newRepositoryState(
  state: FakeState,
  slug: string,
  options: NewRepository & { readonly git: GitStore },
): RepositoryState & { readonly git: GitStore };
export function newRepositoryState(
  state: FakeState,
  slug: string,
  options: NewRepository,
): RepositoryState;
export function newRepositoryState(
  state: FakeState,
  slug: string,
  options: NewRepository & { readonly git?: GitStore },
): RepositoryState {
  const [owner = "", name = ""] = slug.split("/");
  const at = state.now();
  return {
    id: state.nextId(),
    owner,
    name,
    isPrivate: options.isPrivate ?? false,
    isFork: options.isFork ?? false,
    isInstalled: options.isInstalled ?? false,
    isDeleted: false,
    createdAt: at,
    pushedAt: at,
    git: options.git,
    tags: new Map(),
    pulls: new Map(),
    comments: new Map(),
    checks: new Map(),
    labels: new Map(),
    permissions: new Map(),
  };
}
