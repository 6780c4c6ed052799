package io.caravan.cluster;

import java.util.Objects;

/**
 * A node of a group.
 *
 * @param id the node's name, unique among all current and former nodes of the group: a node that lost its files returns
 *     under a new name
 * @param address the address at which the other nodes reach the node, without brackets
 * @param port from 1 to 65535
 * @param note data of the application about the node, such as its address for clients; the group keeps it with the node
 */
public record Node(String id, String address, int port, String note) {
    public Node {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(note, "note");
        if (!id.matches("[A-Za-z0-9_-]{1,64}")) {
            throw new IllegalArgumentException(
                    "the id of a node must have 1 to 64 letters, digits, - and _; was " + id);
        }
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("the port of node " + id + " must be 1 to 65535, was " + port);
        }
    }

    /** Creates a node with an empty note. */
    public Node(String id, String address, int port) {
        this(id, address, port, "");
    }

    /** Returns the address and the port, for example {@code 10.0.0.1:7000} or {@code [fd00::1]:7000}. */
    String authority() {
        return (address.contains(":") ? '[' + address + ']' : address) + ':' + port;
    }

    /** Reverses {@link #authority()}; earlier builds wrote no brackets around IPv6 addresses. */
    static Node of(String id, String authority, String note) {
        int colon = authority.lastIndexOf(':');
        String address = authority.substring(0, colon);
        boolean bracketed = address.startsWith("[") && address.endsWith("]");
        return new Node(
                id,
                bracketed ? address.substring(1, colon - 1) : address,
                Integer.parseInt(authority.substring(colon + 1)),
                note);
    }

    @Override
    public String toString() {
        return id + '@' + authority();
    }
}
