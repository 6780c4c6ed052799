package io.caravan.server.net;

/**
 * An open connection, as shown to operators.
 *
 * @param protocol {@code resp} or {@code http}
 * @param address the client's address and port
 * @param name the name that the client has set; empty if none
 * @param user the user whose secret the client has presented; empty if none or unknown
 * @param library the library that the client has reported; empty if none
 * @param ageSeconds seconds since the connection was opened
 */
public record ClientInfo(String protocol, String address, String name, String user, String library, long ageSeconds) {}
