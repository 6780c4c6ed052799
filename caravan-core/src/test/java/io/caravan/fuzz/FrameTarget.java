package io.caravan.fuzz;

import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.testing.DirectoryImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads frames that contain arbitrary records, in the log of an otherwise intact store.
 *
 * <pre>
 *   frames, one after the other:
 *   0         1                   3                   5
 *   +---------+-------------------+-------------------+-------------------+
 *   | how     | records           | payload bytes n   | payload, n bytes  |
 *   +---------+-------------------+-------------------+-------------------+
 * </pre>
 *
 * <p>{@code how}: each bit leaves one field uncorrected or moves the frame.
 */
public final class FrameTarget implements FuzzTarget {
    static final int HOW_BAD_CRC = 1;
    static final int HOW_BAD_PREVIOUS = 2;
    static final int HOW_LONGER = 4;
    static final int HOW_NEXT_SEGMENT = 8;
    static final int HOW_HEADER_FROM_PAYLOAD = 16;

    private static final int FRAME_HEAD_BYTES = 5;

    private final DirectoryImage sound;

    public FrameTarget() throws IOException {
        sound = new ForgedStore().build();
    }

    @Override
    public List<byte[]> samples() throws IOException {
        List<byte[]> samples = new ArrayList<>();
        DirectoryImage full = ForgedStore.image();
        ByteBuffer all = ByteBuffer.allocate(64 * 1024);
        for (String name : full.names("log-")) {
            ByteBuffer file = full.buffer(name);
            for (int at = Blocks.BLOCK_BYTES; at < file.limit(); at += Blocks.BLOCK_BYTES) {
                if (file.getInt(at + FrameLayout.MAGIC) == FrameLayout.MAGIC_VALUE) {
                    byte[] sample = sample(file, at);
                    samples.add(sample);
                    all.put(sample);
                }
            }
        }
        samples.add(Arrays.copyOf(all.array(), all.position()));
        return samples;
    }

    private static byte[] sample(ByteBuffer file, int at) {
        int payload = file.getInt(at + FrameLayout.PAYLOAD_BYTES);
        ByteBuffer sample = ByteBuffer.allocate(FRAME_HEAD_BYTES + payload).order(ByteOrder.LITTLE_ENDIAN);
        sample.put((byte) 0)
                .putShort((short) file.getInt(at + FrameLayout.RECORD_COUNT))
                .putShort((short) payload);
        sample.put(sample.position(), file, at + FrameLayout.HEADER_BYTES, payload);
        return sample.array();
    }

    @Override
    public void run(byte[] input) throws Exception {
        StoreProbe.read(made(input));
    }

    /** Returns the files of a store whose log contains the frames that the input describes. */
    DirectoryImage made(byte[] bytes) {
        ByteBuffer input = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        DirectoryImage image = sound;
        long lsn = ForgedStore.LOG.firstFrame(0);
        FrameLayout.Link previous = FrameLayout.Link.NONE;
        while (input.remaining() >= FRAME_HEAD_BYTES) {
            int how = input.get();
            int records = input.getShort();
            byte[] payload = new byte[Math.min(input.getShort() & 0xFFFF, input.remaining())];
            input.get(payload);
            if ((how & HOW_NEXT_SEGMENT) != 0
                    || payload.length > ForgedStore.LOG.remaining(lsn) - FrameLayout.HEADER_BYTES) {
                lsn = ForgedStore.LOG.firstFrame(ForgedStore.LOG.segmentOf(lsn) + 1);
            }
            String file = FileNames.LOG.of(ForgedStore.LOG.segmentOf(lsn));
            if (!image.files().containsKey(file)
                    || payload.length > ForgedStore.LOG.remaining(lsn) - FrameLayout.HEADER_BYTES) {
                break;
            }
            image = with(image, file, new Made(how, lsn, previous, records, payload));
            ByteBuffer segment = image.buffer(file);
            previous = FrameLayout.link(segment, ForgedStore.LOG.offsetOf(lsn));
            lsn = ForgedStore.LOG.positionAfter(lsn + FrameLayout.HEADER_BYTES + payload.length);
        }
        return image;
    }

    /** A frame that the input describes, and its position in the log. */
    private record Made(int how, long lsn, FrameLayout.Link previous, int records, byte[] payload) {
        boolean is(int bit) {
            return (how & bit) != 0;
        }
    }

    private static DirectoryImage with(DirectoryImage image, String file, Made made) {
        return image.edited(file, segment -> {
            int at = ForgedStore.LOG.offsetOf(made.lsn());
            ByteBuffer frame = segment.slice(at, segment.limit() - at).order(ByteOrder.LITTLE_ENDIAN);
            frame.put(FrameLayout.HEADER_BYTES, made.payload());
            FrameLayout.Link previous = made.previous();
            if (made.is(HOW_BAD_PREVIOUS)) {
                previous = new FrameLayout.Link(previous.lsn() + 8, previous.crc(), previous.term());
            }
            FrameLayout.seal(
                    frame,
                    FrameLayout.MAGIC_VALUE,
                    ForgedStore.STORE_ID,
                    made.lsn(),
                    1,
                    previous,
                    made.payload().length,
                    made.records());
            if (made.is(HOW_HEADER_FROM_PAYLOAD)) {
                int count = Math.min(FrameLayout.HEADER_BYTES, made.payload().length);
                frame.put(0, made.payload(), 0, count);
            }
            if (made.is(HOW_LONGER)) {
                frame.putInt(FrameLayout.PAYLOAD_BYTES, made.payload().length + 8);
            }
            if (!made.is(HOW_BAD_CRC)) {
                Reseal.frame(frame, 0);
            }
        });
    }
}
