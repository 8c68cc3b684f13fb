// Loaded together: the first script contains the name of each separate file, and its size is at its limit.
export { SizeClassPage } from "../size-class/page.tsx";
export { SizeClassKeyPage } from "../size-class-key/page.tsx";
export { SizeClassesPage } from "./page.tsx";
