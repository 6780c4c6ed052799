package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A node's response to another node that starts for the first time. Numbers are big-endian.
 *
 * @param formatLevel the format level of the frames that the node writes
 * @param logSegmentBytes the size of the log segments of the node's store
 * @param hasSeenSender whether the requesting node has already received entries of the group
 */
record NodeFacts(int formatLevel, int logSegmentBytes, boolean hasSeenSender) {
    /** The first byte of a request and of its response. It distinguishes the request from a request for a snapshot. */
    private static final byte KIND = 2;

    private static final int BYTES = 1 + 2 * Integer.BYTES + 1;

    /** Encodes a request for another node's facts. */
    static ByteString question(String sender) {
        return ByteString.copyFrom(new byte[] {KIND}).concat(ByteString.copyFromUtf8(sender));
    }

    static boolean isQuestion(ByteString message) {
        return !message.isEmpty() && message.byteAt(0) == KIND;
    }

    /** Decodes the id of the requesting node from its request. */
    static String sender(ByteString question) {
        return question.substring(1).toString(StandardCharsets.UTF_8);
    }

    ByteString encode() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.put(KIND).putInt(formatLevel).putInt(logSegmentBytes).put((byte) (hasSeenSender ? 1 : 0));
        return UnsafeByteOperations.unsafeWrap(bytes.flip());
    }

    /** Decodes a response. A later version may append fields. */
    static NodeFacts decode(ByteString message) throws IOException {
        ByteBuffer bytes = message.asReadOnlyByteBuffer();
        if (bytes.remaining() < BYTES || bytes.get() != KIND) {
            throw new IOException("this version of Caravan does not know the format of the other node's response");
        }
        return new NodeFacts(bytes.getInt(), bytes.getInt(), bytes.get() != 0);
    }
}
