package io.caravan.server.net;

/**
 * An open connection, for operators.
 *
 * @param protocol {@code resp} or {@code http}
 * @param address the client's, with its port
 * @param name what the client calls itself; empty when it has not said
 * @param user whose secret it has shown; empty when none, or not known
 * @param library what the client is made with; empty when it has not said
 * @param ageSeconds since it was opened
 */
public record ClientInfo(String protocol, String address, String name, String user, String library, long ageSeconds) {}
