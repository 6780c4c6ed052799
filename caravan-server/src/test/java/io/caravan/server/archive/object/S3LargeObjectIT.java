package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.S3Server;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.Rounds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a put and a read of an object that exceeds the memory of the process. */
@Tag("slow")
@LongTimeout
class S3LargeObjectIT {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final int HEAP_MEBIBYTES = 160;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final int OBJECT_MEBIBYTES = Rounds.of(200, 600);

    @Test
    @Tag("rounds")
    void transfersObjectLargerThanMemory(@TempDir Path directory) throws Exception {
        try (S3Server server = S3Server.startOn(Files.createDirectory(directory.resolve("objects")))) {
            ChildJvm process = ChildJvm.start(
                    List.of(
                            "-Xmx" + HEAP_MEBIBYTES + "m",
                            "-XX:MaxDirectMemorySize=" + HEAP_MEBIBYTES + "m",
                            "-Daws.accessKeyId=" + S3Server.ACCESS_KEY,
                            "-Daws.secretAccessKey=" + S3Server.SECRET_KEY),
                    S3LargeObjectIT.class.getName(),
                    List.of(S3Server.url("large"), "" + server.port(), "" + OBJECT_MEBIBYTES),
                    Map.of(),
                    directory.resolve("log"));
            assertThat(process.awaitExit(TIMEOUT)).as(process.output()).isEqualTo(0);
        }
    }

    /**
     * Puts and reads an object in a process with a small JVM heap.
     *
     * @param arguments the URL, the port of the server, and the size in MiB
     */
    public static void main(String[] arguments) throws Exception {
        S3Options options = S3Server.through(Integer.parseInt(arguments[1]));
        MessageDigest written = MessageDigest.getInstance("SHA-256");
        MessageDigest read = MessageDigest.getInstance("SHA-256");
        try (ObjectStore store = ObjectStores.place(arguments[0]).open(options)) {
            store.put("large", out -> {
                DigestOutputStream digested = new DigestOutputStream(out, written);
                byte[] chunk = new byte[CHUNK_BYTES];
                SplittableRandom random = new SplittableRandom(1);
                for (int chunks = Integer.parseInt(arguments[2]); chunks > 0; chunks--) {
                    random.nextBytes(chunk);
                    digested.write(chunk);
                }
            });
            try (InputStream in = store.open("large")) {
                byte[] chunk = new byte[CHUNK_BYTES];
                for (int bytes = in.read(chunk); bytes >= 0; bytes = in.read(chunk)) {
                    read.update(chunk, 0, bytes);
                }
            }
        }
        if (!Arrays.equals(written.digest(), read.digest())) {
            throw new IOException("what was read is not what was written");
        }
    }
}
