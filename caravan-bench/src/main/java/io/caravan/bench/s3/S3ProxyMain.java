package io.caravan.bench.s3;

import java.net.URI;
import java.util.concurrent.CountDownLatch;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/** Runs s3proxy until it is killed. */
final class S3ProxyMain {
    private S3ProxyMain() {}

    /**
     * Starts the server.
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
