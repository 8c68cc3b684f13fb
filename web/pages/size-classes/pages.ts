// Loaded together: each file more has its name in the first script, which is as large as it may be.
export { SizeClassPage } from "../size-class/page.tsx";
export { SizeClassKeyPage } from "../size-class-key/page.tsx";
export { SizeClassesPage } from "./page.tsx";
