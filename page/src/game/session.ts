/** What is being driven. */
export class Session {}
