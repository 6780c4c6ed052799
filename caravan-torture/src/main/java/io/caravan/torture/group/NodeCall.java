package io.caravan.torture.group;

import io.caravan.torture.model.TortureValues;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * A request from the harness to a node of a Raft group.
 *
 * @param number number that determines the value of an append; for a trim, the first sequence to keep
 */
record NodeCall(Kind kind, long list, long number, int length) {
    enum Kind {
        APPEND,
        TRIM,
        DELETE,
        /** Requests all values of a list. */
        READ,
        /** Requests all values of a list, to be returned once the node has confirmed its leadership. */
        STRICT_READ,
        /** Requests the node's state: whether it leads, and the number of the group's entries that it has applied. */
        STATE
    }

    /** The first byte of a node's reply, which states the outcome of the call. */
    enum Reply {
        DONE,
        /** The node does not know whether the change was made. */
        UNKNOWN,
        /** The change was not made. */
        REJECTED
    }

    static NodeCall append(long list, long number, int length) {
        return new NodeCall(Kind.APPEND, list, number, length);
    }

    static NodeCall trim(long list, long firstSequence) {
        return new NodeCall(Kind.TRIM, list, firstSequence, 0);
    }

    static NodeCall delete(long list) {
        return new NodeCall(Kind.DELETE, list, 0, 0);
    }

    static NodeCall read(long list) {
        return new NodeCall(Kind.READ, list, 0, 0);
    }

    static NodeCall strictRead(long list) {
        return new NodeCall(Kind.STRICT_READ, list, 0, 0);
    }

    static NodeCall state() {
        return new NodeCall(Kind.STATE, 0, 0, 0);
    }

    byte[] value() {
        return TortureValues.bytes(list, number, 0, length);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeByte(kind.ordinal());
        out.writeLong(list);
        out.writeLong(number);
        out.writeInt(length);
        out.flush();
    }

    static NodeCall read(DataInputStream in) throws IOException {
        return new NodeCall(Kind.values()[in.readByte()], in.readLong(), in.readLong(), in.readInt());
    }
}
