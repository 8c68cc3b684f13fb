/** The project of clients that name none. */
export const defaultProject = "default";
