/** The project of those who name none. */
export const defaultProject = "default";
