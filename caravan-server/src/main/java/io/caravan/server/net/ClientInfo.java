package io.caravan.server.net;

/**
 * An open connection of protocol {@code resp} or {@code http}, as shown to operators. The address includes the port.
 * The name and the library that the client has reported, and the user whose secret it has presented, are empty if
 * unknown.
 */
public record ClientInfo(String protocol, String address, String name, String user, String library, long ageSeconds) {}
