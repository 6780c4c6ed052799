package io.caravan.server.net;

/**
 * An open connection, as shown to operators.
 *
 * @param protocol {@code resp} or {@code http}
 * @param address the client's, with its port
 * @param name the name that the client has set; empty if none
 * @param user the user whose secret it has presented; empty if none, or not known
 * @param library the library that the client has reported; empty if none
 * @param ageSeconds since it was opened
 */
public record ClientInfo(String protocol, String address, String name, String user, String library, long ageSeconds) {}
