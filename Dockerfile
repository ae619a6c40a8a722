# docker build -t ctxembed .
# docker run --rm -p 127.0.0.1:8642:8642 ctxembed
# Open the printed address; with -p 127.0.0.1:9000:8642 put the port 9000 into it. Its token is required.
# Any other command: docker run --rm ctxembed ctxembed neighbors apple
FROM python:3.12-slim

COPY . /src
RUN pip install --no-cache-dir /src && rm -rf /src

RUN useradd --create-home reader
USER reader
WORKDIR /home/reader

EXPOSE 8642
# Inside a container 127.0.0.1 cannot be reached from outside: --host and --share open the port.
CMD ["ctxembed", "explore", "--host", "0.0.0.0", "--share", "--no-browser"]
