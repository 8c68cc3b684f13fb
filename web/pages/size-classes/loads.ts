// Loaded together, for the reason of `pages.ts`.
export { sizeClassQuery } from "../size-class/load.ts";
export { sizeClassKeyQuery } from "../size-class-key/load.ts";
export { sizeClassesQuery } from "./load.ts";
