package io.caravan.cluster;

import java.util.Objects;

/**
 * A host of a group.
 *
 * @param id its name, which no other host of the group has or ever had: a host that has lost its files comes back under
 *     another
 * @param address where the other hosts reach it
 * @param port from 1 to 65535
 * @param note what the application says of the host, such as where it serves clients; the group keeps it with the host
 */
public record Host(String id, String address, int port, String note) {
    public Host {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(note, "note");
        if (!id.matches("[A-Za-z0-9_-]{1,64}")) {
            throw new IllegalArgumentException("a host's id has 1 to 64 letters, digits, - and _; was " + id);
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("the port of host " + id + " must be 1 to 65535, was " + port);
        }
    }

    /** A host of which there is nothing else to say. */
    public Host(String id, String address, int port) {
        this(id, address, port, "");
    }

    /** Address and port, as in {@code 10.0.0.1:7000}. */
    String authority() {
        return address + ':' + port;
    }

    @Override
    public String toString() {
        return id + '@' + authority();
    }
}
