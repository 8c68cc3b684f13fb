/** One step of building the root file system of a job; the order matters. Everything is read-only except `empty`. */
export type ViewStep =
  | { readonly kind: "show"; readonly path: string; readonly from: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "empty"; readonly path: string };

/** Makes the root file system that surrounds the input tree of a job. */
export interface ImageProvider {
  /** Returns the steps from which a sandbox builds it. Files for it are written below `runDir`. */
  rootFileSystem(runDir: string): Promise<readonly ViewStep[]>;
}
