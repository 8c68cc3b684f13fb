// These pages are loaded as one file: the first script contains the name of each separate file, and must not become
// larger.
export { GranaryBuildPage } from "../granary-build/page.tsx";
export { CommitIndexesPage } from "../granary-index/indexes-page.tsx";
export { CommitIndexPage } from "../granary-index/page.tsx";
export { QuarantinePage } from "../granary-quarantine/page.tsx";
export { GranaryHelpPage } from "./help-page.tsx";
export { GranaryPage } from "./page.tsx";
