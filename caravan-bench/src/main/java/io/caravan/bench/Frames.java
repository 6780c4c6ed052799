package io.caravan.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Messages between a program and its child process. Each consists of a length, a type, and a body.
 *
 * <p>The writer passes each frame to the operating system before it returns, so the frame arrives even if the process
 * then dies. The last frame of a killed writer may be truncated; the reader treats a truncated frame as the end of the
 * stream.
 *
 * <pre>
 *   0        4      5
 *   +--------+------+---------------+
 *   | length | type | body | length of the body
 *   +--------+------+---------------+
 * </pre>
 */
public final class Frames {
    private static final int TYPE_OFFSET = Integer.BYTES;
    private static final int HEADER_BYTES = TYPE_OFFSET + 1;
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_BODY_BYTES = 256 * 1024 * 1024;

    private Frames() {}

    /**
     * One message.
     *
     * @param body the bytes of the body, from the buffer's position to its limit
     */
    public record Frame(byte type, ByteBuffer body) {}

    /** Writes frames. Thread-safe. */
    public static final class Writer {
        private final WritableByteChannel channel;
        private ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

        public Writer(WritableByteChannel channel) {
            this.channel = channel;
        }

        /** Writes a frame, and returns when the operating system has received all of it. */
        public synchronized void write(byte type, ByteBuffer body) throws IOException {
            int length = body.remaining();
            if (buffer.capacity() < HEADER_BYTES + length) {
                buffer = ByteBuffer.allocateDirect(HEADER_BYTES + length);
            }
            buffer.clear().putInt(length).put(type).put(body.duplicate()).flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    /** Reads frames. Not thread-safe. */
    public static final class Reader {
        private final ReadableByteChannel channel;
        private ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).flip();

        public Reader(ReadableByteChannel channel) {
            this.channel = channel;
        }

        /** Returns the next frame, or null at the end. The body is valid until the next call. */
        public @Nullable Frame next() throws IOException {
            if (!fill(HEADER_BYTES)) {
                return null;
            }
            int length = buffer.getInt(buffer.position());
            byte type = buffer.get(buffer.position() + TYPE_OFFSET);
            if (length < 0 || length > MAX_BODY_BYTES) {
                throw new IOException("a frame of " + length + " bytes, type " + type + ": the stream is out of step");
            }
            if (!fill(HEADER_BYTES + length)) {
                return null;
            }
            int start = buffer.position() + HEADER_BYTES;
            buffer.position(start + length);
            return new Frame(
                    type,
                    buffer.duplicate().position(start).limit(start + length).slice());
        }

        private boolean fill(int needed) throws IOException {
            if (buffer.remaining() >= needed) {
                return true;
            }
            makeRoomFor(needed);
            while (buffer.position() < needed) {
                if (channel.read(buffer) < 0) {
                    return false;
                }
            }
            buffer.flip();
            return true;
        }

        private void makeRoomFor(int needed) {
            if (buffer.capacity() >= needed) {
                buffer.compact();
            } else {
                buffer = ByteBuffer.allocate(Math.max(needed, 2 * buffer.capacity()))
                        .put(buffer);
            }
        }
    }
}
