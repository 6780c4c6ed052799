package io.caravan.server.cli.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;

/** Whom a TLS client believes. */
final class TlsTrust {

    private TlsTrust() {}

    /**
     * Has connections speak TLS with a server whose certificate is signed by one of the authorities and names the host.
     *
     * @param authorities certificates in PEM; null is those that Java trusts
     * @throws IOException when they cannot be read
     */
    static void apply(@Nullable Path authorities, DefaultJedisClientConfig.Builder config) throws IOException {
        SSLParameters parameters = new SSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        config.ssl(true).sslParameters(parameters);
        if (authorities != null) {
            try {
                config.sslSocketFactory(context(authorities).getSocketFactory());
            } catch (GeneralSecurityException unfit) {
                throw new IOException(
                        "--tls-ca " + authorities + " is no file of PEM certificates: " + unfit.getMessage(), unfit);
            }
        }
    }

    private static SSLContext context(Path authorities) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int number = 0;
        for (Certificate certificate : certificates(authorities)) {
            store.setCertificateEntry("authority-" + number++, certificate);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private static Collection<? extends Certificate> certificates(Path file)
            throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends Certificate> found =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            if (found.isEmpty()) {
                throw new IOException("--tls-ca " + file + " has no certificate in it");
            }
            return found;
        }
    }
}
