package io.caravan.server.archive;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.caravan.server.archive.object.S3Options;
import io.caravan.testing.FreePorts;
import java.net.URI;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.slf4j.LoggerFactory;

/**
 * An S3 server that runs in this JVM and has one bucket. It checks signatures. All servers have the same credentials,
 * which the first use of this class sets as system properties for the AWS SDK.
 *
 * <p>The server can be stopped and restarted at the same port with the same objects.
 */
public final class S3Server implements AutoCloseable {
    public static final String BUCKET = "caravan";
    public static final String ACCESS_KEY = "caravan-test";
    public static final String SECRET_KEY = "a-secret-of-tests";

    private static final int THREADS = 80;

    static {
        System.setProperty("aws.accessKeyId", ACCESS_KEY);
        System.setProperty("aws.secretAccessKey", SECRET_KEY);
        // S3Proxy logs each rejected request, and tests send hundreds of them.
        ((Logger) LoggerFactory.getLogger("org.gaul")).setLevel(Level.OFF);
    }

    private final BlobStore blobs;
    /** A port that stays free while the server is stopped. */
    private final int port = FreePorts.next();

    private S3Proxy proxy;

    private S3Server(BlobStore blobs) throws Exception {
        this.blobs = blobs;
        blobs.createContainer(BUCKET);
        this.proxy = proxy();
    }

    /** Starts a server with its objects in memory. */
    public static S3Server start() throws Exception {
        return new S3Server(new ExactBlobStore(new TransientNio2BlobStore()));
    }

    /** Starts a server with its objects in a directory, for tests whose objects do not fit in memory. */
    public static S3Server startOn(Path directory) throws Exception {
        return new S3Server(new ExactBlobStore(new FilesystemNio2BlobStore(directory.toString())));
    }

    private S3Proxy proxy() throws Exception {
        S3Proxy made = S3Proxy.builder()
                .blobStore(blobs)
                .endpoint(URI.create("http://127.0.0.1:" + port))
                .awsAuthentication(AuthenticationType.AWS_V4, ACCESS_KEY, SECRET_KEY)
                .ignoreUnknownHeaders(true)
                .jettyMaxThreads(THREADS)
                .stopTimeout(0)
                .build();
        made.start();
        return made;
    }

    public int port() {
        return port;
    }

    /** Returns the URL of the server. */
    public URI endpoint() {
        return at(port);
    }

    /** Returns the URL of a port on this host, for example the port of a proxy in front of a server. */
    public static URI at(int port) {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Returns the options for this server. */
    public S3Options options() {
        return through(port);
    }

    /** Returns the options for a server that is reached through another port on this host. */
    public static S3Options through(int port) {
        return new S3Options(at(port), "us-east-1", true);
    }

    /** Returns the URL of a location in the bucket. */
    public static String url(String prefix) {
        return "s3://" + BUCKET + "/" + prefix;
    }

    /** Returns the server's blob store, which also contains incomplete uploads. */
    public BlobStore blobs() {
        return blobs;
    }

    /** Closes all connections and stops listening. The objects stay. */
    public void stop() throws Exception {
        proxy.stop();
    }

    /** Listens again after a stop. */
    public void restart() throws Exception {
        proxy = proxy();
    }

    @Override
    public void close() throws Exception {
        proxy.stop();
        blobs.close();
    }
}
