package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Writes the files whose pieces a {@link PieceStorage} has sent. Trusts no piece. For one thread. */
public final class PieceReceiver implements AutoCloseable {
    private final Storage target;
    private final Predicate<String> ours;
    private @Nullable StoreFile file;

    /**
     * A receiver that has no file yet.
     *
     * @param target empty; closed with this
     * @param ours whether a file of this name may be received
     */
    public PieceReceiver(Storage target, Predicate<String> ours) {
        this.target = target;
        this.ours = ours;
    }

    /**
     * Takes the next piece.
     *
     * @throws IOException when it is none, is not the next, or cannot be written
     */
    public void take(ByteBuffer piece) throws IOException {
        ByteBuffer rest = piece.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (rest.remaining() < PieceStorage.HEAD_BYTES) {
            throw new IOException("a piece of " + rest.remaining() + " bytes is too short");
        }
        byte kind = rest.get();
        long number = rest.getLong();
        StoreFile now = file;
        if (number < 0) {
            throw new IOException("a piece has the position or size " + number);
        } else if (kind == PieceStorage.NEW_FILE && now == null) {
            file = begin(StandardCharsets.UTF_8.decode(rest).toString(), number);
        } else if (kind == PieceStorage.CONTENT && now != null) {
            now.write(rest, number);
        } else if (kind == PieceStorage.END_OF_FILE && now != null) {
            end(now);
        } else {
            throw new IOException("a piece of kind " + kind + (now == null ? " outside of a file" : " within a file"));
        }
    }

    private StoreFile begin(String name, long bytes) throws IOException {
        if (!ours.test(name) || target.list().contains(name)) {
            throw new IOException("a file of this name cannot be received, or was already: " + name);
        }
        return target.create(name, bytes);
    }

    private void end(StoreFile written) throws IOException {
        try (written) {
            file = null;
            written.force();
        }
    }

    /** Returns when everything received is durable; nothing more can be received. */
    public void finish() throws IOException {
        if (file != null) {
            throw new IOException("the pieces end within a file");
        }
        target.forceDirectory();
    }

    @Override
    public void close() throws IOException {
        try (Storage closing = target) {
            if (file != null) {
                file.close();
            }
        }
    }
}
