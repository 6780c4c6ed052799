package io.caravan.bench.s3;

import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/** Runs s3proxy from this program's own class path, with a directory as its storage. */
final class S3ProxyProgram implements S3Program {
    /**
     * Matches the names of leftover files. s3proxy writes to a file whose name is the key followed by a hyphen and a
     * UUID, and then renames the file. After a kill, it lists the leftover file as an object.
     */
    private static final Pattern HALF_PUT =
            Pattern.compile(".*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private static final List<String> FLAGS = List.of("-Xmx512m", "-XX:+UseSerialGC");

    @Override
    public List<String> command(Path data, int port) {
        return ChildJvm.command(
                FLAGS, S3ProxyProgram.class.getName(), List.of(data.toString(), Integer.toString(port)));
    }

    @Override
    public void tidy(Path data) throws IOException {
        List<Path> halfPut;
        try (Stream<Path> files = Files.walk(data)) {
            halfPut = files.filter(file ->
                            HALF_PUT.matcher(file.getFileName().toString()).matches())
                    .toList();
        }
        for (Path file : halfPut) {
            Files.delete(file);
        }
    }

    /**
     * Runs the server until it is killed.
     *
     * @param arguments the directory for the objects, and the port
     */
    public static void main(String[] arguments) throws Exception {
        FilesystemNio2BlobStore objects = new FilesystemNio2BlobStore(arguments[0]);
        S3Proxy proxy = S3Proxy.builder()
                .blobStore(objects)
                .endpoint(URI.create("http://" + S3Process.HOST + ":" + arguments[1]))
                .awsAuthentication(AuthenticationType.AWS_V4, S3Account.ACCESS_KEY, S3Account.SECRET_KEY)
                .ignoreUnknownHeaders(true)
                .build();
        proxy.start();
        new CountDownLatch(1).await();
    }
}
