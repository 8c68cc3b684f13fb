// Loaded together: each file more has its name in the first script, which is as large as it may be.
export { GranaryBuildPage } from "../granary-build/page.tsx";
export { CommitIndexesPage } from "../granary-index/indexes-page.tsx";
export { CommitIndexPage } from "../granary-index/page.tsx";
export { QuarantinePage } from "../granary-quarantine/page.tsx";
export { GranaryHelpPage } from "./help-page.tsx";
export { GranaryPage } from "./page.tsx";
