/** The Git state of the directory in which a build runs. */
export type Workspace = PlainWorkspace | GitWorkspace;

/**
 * A directory without a usable repository. A build runs there as anywhere, and belongs to no
 * commit.
 */
export interface PlainWorkspace {
  readonly kind: "plain";
  readonly why: "no-git" | "no-repository" | "no-commit" | "trouble";
  readonly root: string;
  /** The reason, for display. */
  readonly message: string;
}

export interface GitWorkspace {
  readonly kind: "git";
  /** The top directory of the working tree, with all links resolved. */
  readonly root: string;
  readonly commit: string;
  /** The commit's tree. */
  readonly tree: string;
  /** "" on a detached HEAD. */
  readonly branch: string;
  /** First parents, the nearest first, at most 63; a shallow clone may have fewer. */
  readonly parents: readonly string[];
  /** Whether the tree has changes that the commit does not have; untracked files that are not ignored also count. */
  readonly dirty: boolean;
  /** Relative to the root; an untracked directory ends in "/". */
  readonly dirtyPaths: readonly string[];
  /** Whether there were more paths than reported, or Git did not finish. */
  readonly dirtyPathsCut: boolean;
  /** The name from the address of `origin`, without credentials; the directory's name when there is no remote. */
  readonly repository: string;
}
