/** Whom runs that only teach belong to, and what their invocations begin with: one for each size class. */
export const backgroundOwner = "background-learning";
