package io.caravan.cluster;

import io.caravan.cluster.AppliedIndex.Applied;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** Encodes and decodes the messages of a snapshot transfer. Numbers are big-endian. */
final class SnapshotMessage {
    private static final byte VERSION = 1;
    private static final int REQUEST_BYTES = 1 + 2 * Long.BYTES;
    private static final int HEAD_BYTES = 1 + Integer.BYTES;
    private static final int MAX_NODE_BYTES = 64;

    private SnapshotMessage() {}

    /**
     * A request for a chunk.
     *
     * @param sending a number that the requesting node generates for one copy
     * @param number the number of the chunk; each is sent once, and 0 begins the copy
     * @param node the id of the requesting node
     */
    record Request(long sending, long number, String node) {
        ByteString encode() {
            byte[] name = node.getBytes(StandardCharsets.UTF_8);
            ByteBuffer bytes = ByteBuffer.allocate(REQUEST_BYTES + name.length);
            bytes.put(VERSION).putLong(sending).putLong(number).put(name).flip();
            return UnsafeByteOperations.unsafeWrap(bytes);
        }

        static Request decode(ByteString message) throws IOException {
            ByteBuffer bytes = message.asReadOnlyByteBuffer();
            if (bytes.remaining() <= REQUEST_BYTES || bytes.remaining() > REQUEST_BYTES + MAX_NODE_BYTES) {
                throw new IOException("a request for a snapshot cannot have " + bytes.remaining() + " bytes");
            }
            byte version = bytes.get();
            if (version != VERSION) {
                throw new IOException("the other node requests a snapshot with version " + version
                        + " of the protocol, not " + VERSION + ": run the same version of Caravan on both nodes");
            }
            return new Request(
                    bytes.getLong(),
                    bytes.getLong(),
                    StandardCharsets.UTF_8.decode(bytes).toString());
        }
    }

    enum Kind {
        /** No chunk is ready yet; the requesting node repeats its request. */
        WAIT,
        /** A chunk of {@link io.caravan.Replica#send}, after the numbers of bytes sent and to send. */
        PIECE,
        /** The end: the term and index of the copy's last entry, and the LSN at which its frame ends. */
        END
    }

    /**
     * A reply whose checksum has been verified.
     *
     * @param body positioned after the bytes already read
     */
    record Reply(Kind kind, ByteBuffer body) {
        static Reply decode(ByteString message) throws IOException {
            ByteBuffer bytes = message.asReadOnlyByteBuffer();
            if (bytes.remaining() < HEAD_BYTES || bytes.get(0) < 0 || bytes.get(0) >= Kind.values().length) {
                throw new IOException("a chunk of a snapshot has no header");
            }
            int sum = bytes.getInt(1);
            ByteBuffer body = bytes.position(HEAD_BYTES).slice();
            if (sum != checksum(bytes.get(0), body)) {
                throw new IOException("a chunk of a snapshot was damaged in transit");
            }
            return new Reply(Kind.values()[bytes.get(0)], body);
        }

        GroupMember.FileProgress readProgress() throws IOException {
            require(2 * Long.BYTES);
            return new GroupMember.FileProgress(body.getLong(), body.getLong());
        }

        Applied readEnd() throws IOException {
            require(3 * Long.BYTES);
            return new Applied(TermIndex.valueOf(body.getLong(), body.getLong()), body.getLong());
        }

        private void require(int bytes) throws IOException {
            if (body.remaining() < bytes) {
                throw new IOException("a chunk of a snapshot is too short");
            }
        }
    }

    static ByteString waiting() {
        return message(Kind.WAIT, ByteBuffer.allocate(0));
    }

    static ByteString piece(GroupMember.FileProgress progress, ByteBuffer piece) {
        ByteBuffer body = ByteBuffer.allocate(2 * Long.BYTES + piece.remaining());
        body.putLong(progress.bytes()).putLong(progress.total()).put(piece).flip();
        return message(Kind.PIECE, body);
    }

    static ByteString end(Applied copied) {
        ByteBuffer body = ByteBuffer.allocate(3 * Long.BYTES);
        body.putLong(copied.entry().getTerm()).putLong(copied.entry().getIndex());
        body.putLong(copied.endLsn()).flip();
        return message(Kind.END, body);
    }

    private static ByteString message(Kind kind, ByteBuffer body) {
        byte number = (byte) kind.ordinal();
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
        head.put(number).putInt(checksum(number, body)).flip();
        return UnsafeByteOperations.unsafeWrap(head).concat(UnsafeByteOperations.unsafeWrap(body));
    }

    private static int checksum(byte kind, ByteBuffer body) {
        CRC32C crc = new CRC32C();
        crc.update(kind);
        crc.update(body.duplicate());
        return (int) crc.getValue();
    }
}
